using System.Text.Json;

namespace Treepie.Server.Databases;

/// <summary>
/// The state of a database as set by operators: whether it answers requests, and whether it can be deleted.
/// </summary>
/// <param name="IsDisabled">Whether requests are rejected.</param>
/// <param name="Lock">Whether it can be deleted.</param>
internal sealed record DatabaseState(bool IsDisabled, DatabaseLock Lock)
{
    /// <summary>The name of the setting that holds it.</summary>
    public const string SettingName = "state";

    /// <summary>Returns the state of a database.</summary>
    public static DatabaseState Of(Database database) => Of(database.Settings.Get(SettingName));

    /// <summary>Returns the settings of a record with the state changed.</summary>
    public static IReadOnlyDictionary<string, ReadOnlyMemory<byte>> Change(
        IReadOnlyDictionary<string, ReadOnlyMemory<byte>> settings, Func<DatabaseState, DatabaseState> change)
    {
        var changed = new Dictionary<string, ReadOnlyMemory<byte>>(settings);
        change(Of(changed.TryGetValue(SettingName, out ReadOnlyMemory<byte> json) ? json : default(ReadOnlyMemory<byte>?)))
            .PutInto(changed);
        return changed;
    }

    private static DatabaseState Of(ReadOnlyMemory<byte>? stored)
    {
        if (stored is not { } json)
            return new DatabaseState(false, DatabaseLock.Unlock);
        using var parsed = JsonDocument.Parse(json);
        return new DatabaseState(
            parsed.RootElement.GetProperty("Disabled").GetBoolean(),
            Enum.Parse<DatabaseLock>(parsed.RootElement.GetProperty("LockMode").GetString() ?? ""));
    }

    /// <summary>Puts the state into the settings of a record; the one of a new database is not stored.</summary>
    public void PutInto(Dictionary<string, ReadOnlyMemory<byte>> settings)
    {
        settings.Remove(SettingName);
        if (this is not { IsDisabled: false, Lock: DatabaseLock.Unlock })
            settings[SettingName] = ToJson();
    }

    private byte[] ToJson() => System.Text.Encoding.UTF8.GetBytes(
        $"{{\"Disabled\":{(IsDisabled ? "true" : "false")},\"LockMode\":\"{Lock}\"}}");
}
