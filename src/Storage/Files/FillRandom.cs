namespace Treepie.Storage.Files;

/// <summary>Fills bytes with numbers that nobody can guess.</summary>
internal delegate void FillRandom(Span<byte> bytes);
