using System.Text;
using Treepie.Store;

namespace Treepie.Backups;

/// <summary>The members of the database record that an export or import leaves out.</summary>
internal sealed class LeftOutSettings(IReadOnlyList<string> members)
{
    /// <summary>By their keys, which fold names: a setting with its name in another case is the same setting.</summary>
    private readonly HashSet<string> _keys = [.. members.Select(static member => KeyOf(DumpRecord.SettingOf(member)))];

    /// <summary>Whether the past definitions of indexes are left out, which are dumped with the indexes.</summary>
    public bool HasHistories { get; } = members.Contains(DumpRecord.Histories);

    /// <summary>Returns whether a stored setting is left out.</summary>
    public bool Has(string setting) => _keys.Count > 0 && _keys.Contains(KeyOf(setting));

    /// <summary>Returns whether a stored setting is left out, by its name in UTF-8.</summary>
    public bool Has(ReadOnlySpan<byte> setting) => _keys.Count > 0 && Has(Encoding.UTF8.GetString(setting));

    private static string KeyOf(string setting) =>
        Convert.ToHexString(KindKey.OfName(Kind.Setting, default, Encoding.UTF8.GetBytes(setting)));
}
