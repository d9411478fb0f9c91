namespace Treepie.Indexing;

/// <summary>The size of one structure of an index.</summary>
/// <param name="Structure">The name of the structure: <c>terms</c>, <c>terms.postings</c>, <c>terms.positions</c>,
/// <c>numbers</c>, <c>sort</c>, <c>entries</c>, <c>keys</c>, <c>free</c>, …</param>
/// <param name="Field">The field it belongs to; null if it belongs to none.</param>
/// <param name="SizeBytes">The size in the file, in bytes.</param>
/// <param name="UsedBytes">The part of it that is in use, in bytes.</param>
/// <param name="Keys">The number of keys: terms, blocks or chunks.</param>
public sealed record IndexStructureSize(string Structure, string? Field, long SizeBytes, long UsedBytes, long Keys);
