namespace Treepie.Encryption;

/// <summary>The result of the re-encryption of a database.</summary>
/// <param name="PagesWritten">The number of pages re-encrypted.</param>
/// <param name="IsComplete">Whether the old data keys have been removed. Otherwise they remain until the operation is repeated
/// after their holders have ended.</param>
/// <param name="Holders">What still uses an old data key, and what to do about it.</param>
public sealed record EncryptionReport(long PagesWritten, bool IsComplete, IReadOnlyList<string> Holders);
