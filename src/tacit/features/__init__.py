"""Fixed public feature maps of images: every image on its own, no statistics of a batch."""
