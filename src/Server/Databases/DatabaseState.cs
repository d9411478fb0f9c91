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

    private static DatabaseState New { get; } = new(false, DatabaseLock.Unlock);

    /// <summary>
    /// Returns the state of a database; that of a new one if what is stored cannot be read, because otherwise the database could
    /// neither be entered nor enabled nor deleted.
    /// </summary>
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
        try
        {
            using JsonDocument? parsed = stored is { } json ? JsonDocument.Parse(json) : null;
            return parsed is { RootElement: { ValueKind: JsonValueKind.Object } state }
                ? new DatabaseState(
                    state.TryGetProperty("Disabled", out JsonElement disabled) && disabled.ValueKind == JsonValueKind.True,
                    state.TryGetProperty("LockMode", out JsonElement mode) && mode.ValueKind == JsonValueKind.String
                        && Enum.TryParse(mode.GetString(), out DatabaseLock known) ? known : DatabaseLock.Unlock)
                : New;
        }
        catch (JsonException)
        {
            return New;
        }
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
