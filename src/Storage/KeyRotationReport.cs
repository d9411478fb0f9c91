namespace Treepie.Storage;

/// <summary>What a rotation of the data key did.</summary>
/// <param name="PagesWritten">Pages sealed anew.</param>
/// <param name="IsComplete">Whether the old data key is gone. Otherwise it stays until the rotation is run again after what holds
/// it has ended.</param>
/// <param name="Holders">What holds it, with what to do.</param>
public sealed record KeyRotationReport(long PagesWritten, bool IsComplete, IReadOnlyList<string> Holders);
