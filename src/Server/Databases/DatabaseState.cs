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
    public static DatabaseState Of(Database database)
    {
        if (database.Settings.Get(SettingName) is not { } json)
            return new DatabaseState(false, DatabaseLock.Unlock);
        using var parsed = JsonDocument.Parse(json);
        return new DatabaseState(
            parsed.RootElement.GetProperty("Disabled").GetBoolean(),
            Enum.Parse<DatabaseLock>(parsed.RootElement.GetProperty("LockMode").GetString() ?? ""));
    }

    /// <summary>Stores the state; durable on completion.</summary>
    public Task SaveAsync(Database database, CancellationToken cancellationToken) =>
        database.Settings.SetAsync(SettingName, ToJson(), cancellationToken);

    /// <summary>Returns the JSON of the setting.</summary>
    public byte[] ToJson() => System.Text.Encoding.UTF8.GetBytes(
        $"{{\"Disabled\":{(IsDisabled ? "true" : "false")},\"LockMode\":\"{Lock}\"}}");
}
