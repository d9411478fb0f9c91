namespace Treepie.Kinds;

/// <summary>A content that is whole and not yet an attachment's.</summary>
/// <param name="Hash">SHA-256 of it.</param>
/// <param name="SizeBytes">Its length.</param>
/// <param name="UploadId">Where its pieces are; 0: it is <paramref name="Only"/>.</param>
/// <param name="Only">Its only piece.</param>
internal sealed record UploadedContent(byte[] Hash, long SizeBytes, long UploadId, ReadOnlyMemory<byte> Only);
