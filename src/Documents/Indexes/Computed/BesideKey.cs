using Treepie.Store;

namespace Treepie.Indexes.Computed;

/// <summary>
/// Keys of counters and segments of time series in an index: the folded id of the document, 00, the folded name; for a
/// segment also 00 and the time at the end of its key in the store, as 16 hexadecimal digits. No byte is FF, as
/// <see cref="OutputKey"/> requires.
/// </summary>
internal static class BesideKey
{
    /// <summary>The maximum length of a key.</summary>
    public const int MaxBytes = KindKey.MaxBytes + TimeBytes;

    private const int TimeBytes = 2 * TreeNames.EtagKeyBytes;

    /// <summary>Writes the key for a key of the store; returns its length.</summary>
    public static int Write(ReadOnlySpan<byte> stored, Span<byte> key)
    {
        ReadOnlySpan<byte> names = stored[1..];
        if (KindKey.KindOf(stored) != Kind.TimeSeries)
        {
            names.CopyTo(key);
            return names.Length;
        }

        names = names[..^TreeNames.EtagKeyBytes];
        names.CopyTo(key);
        Convert.TryToHexStringLower(stored[^TreeNames.EtagKeyBytes..], key[names.Length..], out int written);
        return names.Length + written;
    }

    /// <summary>Returns the key in the store.</summary>
    public static byte[] Stored(Kind kind, ReadOnlySpan<byte> key) => kind == Kind.TimeSeries
        ? [(byte)kind, .. key[..^TimeBytes], .. Convert.FromHexString(key[^TimeBytes..])]
        : [(byte)kind, .. key];

    /// <summary>Returns the folded id of the document.</summary>
    public static ReadOnlySpan<byte> OwnerOf(ReadOnlySpan<byte> key) =>
        key.IndexOf((byte)0) is >= 0 and var end ? key[..end] : key;
}
