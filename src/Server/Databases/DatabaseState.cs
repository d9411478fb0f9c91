using System.Text.Json;

namespace Treepie.Server.Databases;

/// <summary>What operators set of a database: whether it answers requests, and whether it can be deleted.</summary>
/// <param name="IsDisabled">Nobody is let in.</param>
/// <param name="Lock">Whether it can be deleted.</param>
internal sealed record DatabaseState(bool IsDisabled, DatabaseLock Lock)
{
    private const string SettingName = "state";

    /// <summary>What is set of a database.</summary>
    public static DatabaseState Of(Database database)
    {
        if (database.Settings.Get(SettingName) is not { } json)
            return new DatabaseState(false, DatabaseLock.Unlock);
        using var parsed = JsonDocument.Parse(json);
        return new DatabaseState(
            parsed.RootElement.GetProperty("Disabled").GetBoolean(),
            Enum.Parse<DatabaseLock>(parsed.RootElement.GetProperty("LockMode").GetString() ?? ""));
    }

    /// <summary>Sets it; durable when this completes.</summary>
    public Task SaveAsync(Database database, CancellationToken cancellationToken) => database.Settings.SetAsync(
        SettingName,
        System.Text.Encoding.UTF8.GetBytes($"{{\"Disabled\":{(IsDisabled ? "true" : "false")},\"LockMode\":\"{Lock}\"}}"),
        cancellationToken);
}
