namespace Treepie.Storage;

/// <summary>The progress of a rotation of the data key.</summary>
/// <param name="PagesWritten">The number of pages re-encrypted so far.</param>
/// <param name="PagesTotal">The number of pages in use at the start; what is written meanwhile uses the new key in any
/// case.</param>
public readonly record struct KeyRotationProgress(long PagesWritten, long PagesTotal);
