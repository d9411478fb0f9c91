namespace Treepie.Storage.Files;

/// <summary>Fills bytes with cryptographically secure random numbers.</summary>
internal delegate void FillRandom(Span<byte> bytes);
