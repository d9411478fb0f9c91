namespace Treepie.Server.Hosting;

/// <summary>Starts and stops the backup schedulers with the program.</summary>
internal sealed class BackupHost(TreepieServices services) : IHostedService
{
    public Task StartAsync(CancellationToken cancellationToken)
    {
        foreach (ServerContext context in services.Contexts)
            context.Backups.Start();
        return Task.CompletedTask;
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        foreach (ServerContext context in services.Contexts)
            await context.Backups.DisposeAsync().ConfigureAwait(false);
    }
}
