using System.Globalization;
using System.Text.Json;
using Treepie.CommandLine.Http;

namespace Treepie.CommandLine.Keys;

/// <summary>Has a server re-encrypt a database and reports progress until it is done.</summary>
internal sealed class KeyRotationRun(Shell shell, DatabaseClient database)
{
    private static readonly TimeSpan _look = TimeSpan.FromMilliseconds(200);
    private static readonly TimeSpan _say = TimeSpan.FromSeconds(2);

    public async Task RunAsync(CancellationToken cancellationToken)
    {
        long operation = await database.StartKeyRotationAsync(cancellationToken);
        long said = shell.Time.GetTimestamp();
        while (true)
        {
            using JsonDocument state = await database.OperationStateAsync(operation, cancellationToken);
            JsonElement root = state.RootElement;
            switch (root.GetProperty("Status").GetString())
            {
                case "InProgress":
                    break;
                case "Completed":
                    await shell.Error.WriteLineAsync($"Database '{database.Name}' is encrypted anew.");
                    return;
                case "Canceled":
                    throw new InvalidDataException(
                        $"The server gave up encrypting '{database.Name}' anew: it was asked to, or is stopping. The database is "
                            + $"as it was; run it again.");
                default:
                    throw new InvalidDataException(root.GetProperty("Result").GetProperty("Message").GetString());
            }

            if (shell.Time.GetElapsedTime(said) >= _say)
            {
                said = shell.Time.GetTimestamp();
                JsonElement progress = root.GetProperty("Progress");
                await shell.Error.WriteLineAsync(string.Create(
                    CultureInfo.InvariantCulture,
                    $"{progress.GetProperty("LastProcessedId").GetString()}: {progress.GetProperty("Processed").GetInt64():N0} "
                        + $"of {progress.GetProperty("Total").GetInt64():N0} pages"));
            }

            await Task.Delay(_look, shell.Time, cancellationToken);
        }
    }
}
