using System.Text;
using Treepie.Indexes.Definitions;
using Treepie.Json;
using Treepie.Kinds;
using Treepie.Lifecycle;
using Treepie.Queries;
using Treepie.Store;

namespace Treepie.Backups;

/// <summary>Checks settings from outside before they are stored: a database must be able to read what it has.</summary>
internal static class ImportedSetting
{
    /// <summary>
    /// Returns whether a setting from outside is what its name says: its key is that of its name, and its value can be read.
    /// </summary>
    public static bool CanRead(RestoredKind item)
    {
        if (item.Name.Length is 0 or > KindNames.MaxBytes
            || !item.Key.Span.SequenceEqual(KindKey.OfName(Kind.Setting, default, item.Name.Span)))
            return false;

        string given = Encoding.UTF8.GetString(item.Name.Span);
        // Keys fold names, so another case is the same setting; it must not pass for one that nothing reads.
        foreach ((string name, Func<ReadOnlyMemory<byte>, object> read) in Known())
            if (string.Equals(name, given, StringComparison.OrdinalIgnoreCase))
                return name == given && SettingReader.Read(item.Value, read) is not null;
        return SettingReader.Read<object>(
            item.Value,
            json =>
            {
                DatabaseSettings.Check(given, json);
                return given;
            }) is not null;
    }

    private static IEnumerable<(string Name, Func<ReadOnlyMemory<byte>, object> Read)> Known()
    {
        foreach (LifecycleTask task in Enum.GetValues<LifecycleTask>())
            yield return (LifecycleSettings.NameOf(task), json => LifecycleSettings.FromJson(json, task));
        yield return (RevisionsConfiguration.SettingName, RevisionsConfiguration.FromJson);
        yield return (TimeSeriesConfiguration.SettingName, TimeSeriesConfiguration.FromJson);
        yield return (DocumentCompressionConfiguration.SettingName, DocumentCompressionConfiguration.FromJson);
        yield return (CustomAnalyzers.SettingName, NamedCode.FromJson);
        yield return (DatabaseSorters.SettingName, NamedCode.FromJson);
    }
}
