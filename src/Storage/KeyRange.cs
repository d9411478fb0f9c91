using System.Text;

namespace Treepie.Storage;

/// <summary>A range of adjacent keys.</summary>
/// <param name="From">The first key, inclusive; null: from the first key of the tree.</param>
/// <param name="To">The end, exclusive; null: to the last key of the tree.</param>
public sealed record KeyRange(byte[]? From, byte[]? To)
{
    /// <summary>
    /// Returns the range as <c>[from, to)</c>: as text if the bytes are printable ASCII, otherwise as hexadecimal digits.
    /// </summary>
    public override string ToString() => $"[{(From is null ? "first" : Show(From))}, {(To is null ? "end" : Show(To))})";

    private static string Show(byte[] key) => Array.TrueForAll(key, value => value is >= 0x20 and < 0x7F)
        ? $"'{Encoding.ASCII.GetString(key)}'"
        : $"0x{Convert.ToHexString(key)}";
}
