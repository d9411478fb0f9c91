using Microsoft.Extensions.Diagnostics.HealthChecks;
using Treepie.Indexes;

namespace Treepie.Extensions.Hosting;

/// <summary>Checks that a database can be read and written and that its indexes run.</summary>
internal sealed class DatabaseHealthCheck(DatabaseHolder holder) : IHealthCheck
{
    public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
    {
        try
        {
            Database database = holder.Database;
            if (database.WritingFault is { } fault)
                return Task.FromResult(
                    new HealthCheckResult(
                        context.Registration.FailureStatus, $"The database '{database.Name}' cannot be written: {fault}"));
            DatabaseStatistics statistics = database.GetStatistics();
            var data = new Dictionary<string, object>
            {
                ["documents"] = statistics.DocumentCount,
                ["lastEtag"] = statistics.LastEtag,
                ["indexes"] = statistics.Indexes.Count
            };
            string[] broken = [.. statistics.Indexes.Where(index => index.State is IndexState.Error).Select(index => index.Name)];
            return Task.FromResult(broken.Length == 0
                ? HealthCheckResult.Healthy($"The database '{database.Name}' can be read and written.", data)
                : HealthCheckResult.Degraded(
                    $"Indexes of the database '{database.Name}' have stopped: {string.Join(", ", broken)}.", data: data));
        }
        catch (Exception error) when (error is TreepieException or ObjectDisposedException or IOException)
        {
            return Task.FromResult(new HealthCheckResult(context.Registration.FailureStatus, error.Message, error));
        }
    }
}
