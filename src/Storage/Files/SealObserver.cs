namespace Treepie.Storage.Files;

/// <summary>
/// Receives everything before it is encrypted. The simulated world uses it to detect a nonce that is used twice under a key
/// for different content.
/// </summary>
internal delegate void SealObserver(
    ReadOnlySpan<byte> key, ReadOnlySpan<byte> nonce, ReadOnlySpan<byte> associated, ReadOnlySpan<byte> plain);
