namespace Treepie.Indexing;

/// <summary>How much room one structure of an index takes.</summary>
/// <param name="Structure">What it is: <c>terms</c>, <c>terms.postings</c>, <c>terms.positions</c>, <c>numbers</c>, <c>sort</c>,
/// <c>entries</c>, <c>keys</c>, <c>free</c>, …</param>
/// <param name="Field">The field it is of; null for what is of none.</param>
/// <param name="SizeBytes">Bytes in the file.</param>
/// <param name="UsedBytes">Bytes of these that hold something.</param>
/// <param name="Keys">How many keys it has: terms, blocks, chunks.</param>
public sealed record IndexStructureSize(string Structure, string? Field, long SizeBytes, long UsedBytes, long Keys);
