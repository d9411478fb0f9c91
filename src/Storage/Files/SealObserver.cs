namespace Treepie.Storage.Files;

/// <summary>
/// Sees everything that is encrypted, before it is: for the simulated world, which fails where a nonce is used twice under a key
/// for different things.
/// </summary>
internal delegate void SealObserver(
    ReadOnlySpan<byte> key, ReadOnlySpan<byte> nonce, ReadOnlySpan<byte> associated, ReadOnlySpan<byte> plain);
