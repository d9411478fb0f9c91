using Microsoft.Extensions.Hosting;

namespace Treepie.Extensions.Hosting;

/// <summary>
/// Opens a database when the program starts, so that what keeps it from opening is said then and not at the first request.
/// </summary>
internal sealed class DatabaseStarter(DatabaseHolder holder) : IHostedService
{
    public Task StartAsync(CancellationToken cancellationToken)
    {
        _ = holder.Database;
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}
