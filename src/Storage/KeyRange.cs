using System.Text;

namespace Treepie.Storage;

/// <summary>Keys side by side.</summary>
/// <param name="From">The first of them; null: from the first key of the tree on.</param>
/// <param name="To">The first behind them; null: up to the last key of the tree.</param>
public sealed record KeyRange(byte[]? From, byte[]? To)
{
    /// <summary>As <c>[from, to)</c>: text where the bytes are printable ASCII, else hexadecimal digits.</summary>
    public override string ToString() => $"[{(From is null ? "first" : Show(From))}, {(To is null ? "end" : Show(To))})";

    private static string Show(byte[] key) => Array.TrueForAll(key, value => value is >= 0x20 and < 0x7F)
        ? $"'{Encoding.ASCII.GetString(key)}'"
        : $"0x{Convert.ToHexString(key)}";
}
