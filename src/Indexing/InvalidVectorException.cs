namespace Treepie.Indexing;

/// <summary>
/// Thrown when a vector is not valid for a field: empty, of another number of dimensions, or with an infinity or NaN.
/// </summary>
public sealed class InvalidVectorException(string message) : TreepieException(message);
