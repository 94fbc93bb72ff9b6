"""Private answers: records in, a noised sum and the event it cost out. Inside the wall."""
