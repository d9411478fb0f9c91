namespace Treepie.Json;

/// <summary>A valid document, taken apart: where its parts lie in the output of the scan.</summary>
/// <param name="BodyLength">Bytes of the minified object without <c>@metadata</c>, from the start of the output.</param>
/// <param name="MetadataLength">Bytes of the minified metadata object behind it; 0 where it has no members.</param>
/// <param name="Depth">Deepest nesting found.</param>
internal readonly record struct ParsedDocument(int BodyLength, int MetadataLength, int Depth);
