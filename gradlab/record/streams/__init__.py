"""Steps sent to TensorBoard, Weights & Biases, MLflow or a file of JSON lines as they are recorded."""
