namespace Treepie.Indexing;

/// <summary>
/// Thrown when a point or shape is not valid: a coordinate out of range or not a number, text that is not WKT, a ring that
/// crosses itself, or a limit that is exceeded.
/// </summary>
public sealed class InvalidGeometryException(string message) : TreepieException(message);
