namespace Treepie.Storage;

/// <summary>The result of a rotation of the data key.</summary>
/// <param name="PagesWritten">The number of pages re-encrypted.</param>
/// <param name="IsComplete">Whether the old data key was removed. Otherwise it remains until the rotation is repeated after its
/// holders have ended.</param>
/// <param name="Holders">What still uses it, and what to do about it.</param>
public sealed record KeyRotationReport(long PagesWritten, bool IsComplete, IReadOnlyList<string> Holders);
