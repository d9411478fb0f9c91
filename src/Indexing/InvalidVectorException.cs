namespace Treepie.Indexing;

/// <summary>
/// A vector that a field cannot take: empty, of another number of dimensions, or with a number that is infinite or none.
/// </summary>
public sealed class InvalidVectorException(string message) : TreepieException(message);
