using Microsoft.Extensions.Hosting;

namespace Treepie.Extensions.Hosting;

/// <summary>
/// Opens a database when the host starts, so that an error is reported then and not by the first request.
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
