namespace Treepie.Storage.Format;

/// <summary>The values at the start of a map's root page; see <see cref="MapLayout"/>.</summary>
internal readonly record struct MapHeader(
    ulong Seed, long Buckets, long UsedBytes, int KeyBytes, int ValueBytes, bool IsStandardHash);
