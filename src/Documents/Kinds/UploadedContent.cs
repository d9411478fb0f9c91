namespace Treepie.Kinds;

/// <summary>A complete content that is not yet part of an attachment.</summary>
/// <param name="Hash">The SHA-256 hash.</param>
/// <param name="SizeBytes">The length in bytes.</param>
/// <param name="UploadId">The number of the upload; 0: the content is <paramref name="Only"/>.</param>
/// <param name="Only">The only chunk.</param>
internal sealed record UploadedContent(byte[] Hash, long SizeBytes, long UploadId, ReadOnlyMemory<byte> Only);
