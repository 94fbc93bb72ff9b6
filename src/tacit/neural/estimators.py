"""placeholder"""
DPClassifier = DPRegressor = None
