namespace Treepie.Indexing;

/// <summary>
/// A place or shape that is none: a coordinate outside its range or not a number, a text that is not WKT, a ring that crosses
/// itself, more than the limits allow.
/// </summary>
public sealed class InvalidGeometryException(string message) : TreepieException(message);
