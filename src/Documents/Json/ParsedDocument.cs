namespace Treepie.Json;

/// <summary>The parts of a valid document in the output of the scan.</summary>
/// <param name="BodyLength">The length of the minified object without <c>@metadata</c>, at the start of the output.</param>
/// <param name="MetadataLength">The length of the minified metadata object after it; 0 if it has no members.</param>
/// <param name="Depth">The maximum nesting depth.</param>
internal readonly record struct ParsedDocument(int BodyLength, int MetadataLength, int Depth);
