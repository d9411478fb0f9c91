namespace Treepie.Encryption;

/// <summary>What encrypting a database anew did.</summary>
/// <param name="PagesWritten">Pages encrypted anew.</param>
/// <param name="IsComplete">Whether the old data keys are gone. Otherwise they stay until it is run again after what holds them
/// has ended.</param>
/// <param name="Holders">What holds an old data key, with what to do.</param>
public sealed record EncryptionReport(long PagesWritten, bool IsComplete, IReadOnlyList<string> Holders);
