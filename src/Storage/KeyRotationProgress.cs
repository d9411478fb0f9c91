namespace Treepie.Storage;

/// <summary>How far a rotation of the data key is.</summary>
/// <param name="PagesWritten">Pages sealed anew so far.</param>
/// <param name="PagesTotal">Pages in use when it began; what is written meanwhile is sealed with the new key in any case.</param>
public readonly record struct KeyRotationProgress(long PagesWritten, long PagesTotal);
