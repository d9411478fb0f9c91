using System.Text;
using System.Text.Json;
using Treepie.Indexes.Definitions;
using Treepie.Json;
using Treepie.Lifecycle;
using Treepie.Queries;
using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>
/// Reads stored settings. One that cannot be read counts as absent: a database must open, take writes and be deletable whatever
/// was once stored as a setting.
/// </summary>
internal static class SettingReader
{
    /// <summary>Reads a setting; null if there is none, or it cannot be read.</summary>
    public static T? Read<T>(ReadOnlyMemory<byte> stored, Func<ReadOnlyMemory<byte>, T> read)
        where T : class
    {
        try
        {
            return stored.IsEmpty ? null : read(stored);
        }
        catch (Exception error)
            when (error is TreepieException or JsonException or KeyNotFoundException or FormatException or OverflowException
                or ArgumentException or InvalidOperationException)
        {
            return null;
        }
    }

    /// <summary>Reads a setting of a snapshot; null if there is none, or it cannot be read.</summary>
    public static T? Read<T>(DatabaseSnapshot snapshot, string name, Func<ReadOnlyMemory<byte>, T> read)
        where T : class =>
        Read(snapshot.Setting(name), read);

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
                return name == given && Read(item.Value, read) is not null;
        return Read<object>(
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
