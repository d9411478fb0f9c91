using System.Diagnostics;
using Treepie.Server.Databases;
using Treepie.Server.Demo;
using Treepie.Server.Security;

namespace Treepie.Server.Hosting;

/// <summary>
/// The program from its command line to its exit code: rejects unsafe options before anything is created, starts the server,
/// waits for a stop request, and shuts down.
/// </summary>
/// <param name="input">The input from which commands are read.</param>
/// <param name="output">The output for programs.</param>
/// <param name="error">The output of messages for people.</param>
/// <param name="log">The log; null: the standard error of the process.</param>
/// <param name="advice">Returns advice for a person, given the address of the server; null: none is printed.</param>
internal sealed class ServerProgram(
    TextReader input, TextWriter output, TextWriter error, ILoggerProvider? log = null, Func<string, string>? advice = null)
{
    /// <summary>The maximum time for running requests to end on shutdown; then they are aborted.</summary>
    private static readonly TimeSpan _shutdownTimeout = TimeSpan.FromSeconds(10);

    private const string DefaultUrl = "http://127.0.0.1:8080", DefaultSecureUrl = "https://localhost:8443";

    public async Task<int> RunAsync(string[] arguments, CancellationToken cancellationToken = default)
    {
        ProgramOptions options;
        List<BindAddress> addresses;
        try
        {
            options = CommandLineParser.Parse(arguments);
            addresses = (options.Urls ?? [options.Certificate is null ? DefaultUrl : DefaultSecureUrl])
                .Select(BindAddress.Parse)
                .ToList();
            ServerSecurity.Check(options, addresses);
        }
        catch (CommandLineException exception)
        {
            await error.WriteLineAsync(exception.Message).ConfigureAwait(false);
            return ExitCodes.BadCommandLine;
        }

        if (options.Help || options.Version)
        {
            await output.WriteLineAsync(options.Help ? HelpText.Text : ProductVersion.Own).ConfigureAwait(false);
            return ExitCodes.Success;
        }

        if (options.Ignored.Count > 0)
            await output.WriteLineAsync($"Ignored, as they do not apply to this server: {string.Join(", ", options.Ignored)}")
                .ConfigureAwait(false);

        using var temporary = options.DataDirectory is null ? new TemporaryDataDirectory() : null;
        return await ServeAsync(options, temporary?.Path ?? options.DataDirectory!, addresses, cancellationToken)
            .ConfigureAwait(false);
    }

    private async Task<int> ServeAsync(
        ProgramOptions options, string directory, List<BindAddress> addresses, CancellationToken cancellationToken)
    {
        WebApplication app;
        try
        {
            app = WebServer.Build(options, directory, addresses, log); // reads the certificates
        }
        catch (Exception exception) when (IsOurs(exception))
        {
            return await CannotStartAsync(exception).ConfigureAwait(false);
        }

        await using (app.ConfigureAwait(false))
        {
            try
            {
                // report an unusable directory now, not at the first request
                app.Services.GetRequiredService<DatabaseCatalog>();
                WebServer.Map(app, options);
                await app.StartAsync(cancellationToken).ConfigureAwait(false);
            }
            catch (Exception exception) when (exception is TreepieException or IOException or UnauthorizedAccessException
                                                  or System.Net.Sockets.SocketException || IsOurs(exception))
            {
                return await CannotStartAsync(exception).ConfigureAwait(false);
            }

            string[] urls = [.. app.Urls];
            foreach (string url in urls)
                await output.WriteLineAsync($"Server available on: {url}").ConfigureAwait(false);

            if (advice is not null)
                await output.WriteLineAsync(advice(urls[0])).ConfigureAwait(false);

            await output.FlushAsync(cancellationToken).ConfigureAwait(false);
            await RunUntilStoppedAsync(app, options, urls[0], cancellationToken).ConfigureAwait(false);
        }

        return ExitCodes.Success;
    }

    private async Task<int> CannotStartAsync(Exception exception)
    {
        await error.WriteLineAsync($"Cannot start: {exception.Message}").ConfigureAwait(false);
        return ExitCodes.CannotStart;
    }

    private async Task RunUntilStoppedAsync(
        WebApplication app, ProgramOptions options, string url, CancellationToken cancellationToken)
    {
        IHostApplicationLifetime lifetime = app.Lifetime;
        using CancellationTokenRegistration registration = cancellationToken.Register(lifetime.StopApplication);
        StandardInput.Watch(input, lifetime.StopApplication);
        if (options.ParentProcessId is { } parent)
            _ = EndWithAsync(parent, lifetime);

        Task demo = options.Demo ? LoadDemoAsync(app, url, lifetime.ApplicationStopping) : Task.CompletedTask;
        var stopping = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using CancellationTokenRegistration stop = lifetime.ApplicationStopping.Register(stopping.SetResult);
        await stopping.Task.ConfigureAwait(false);
        await demo.ConfigureAwait(false);
        using var patience = new CancellationTokenSource(_shutdownTimeout);
        await app.StopAsync(patience.Token).ConfigureAwait(false);
    }

    private async Task LoadDemoAsync(WebApplication app, string url, CancellationToken stopping)
    {
        try
        {
            DatabaseCatalog catalog = app.Services.GetRequiredService<DatabaseCatalog>();
            DatabaseGate gate = app.Services.GetRequiredService<TreepieServices>().Contexts[0].Databases;
            if (!gate.Exists(DemoData.DatabaseName))
                gate.Create(DemoData.DatabaseName, encrypted: false);
            using DatabaseLease lease = gate.Enter(DemoData.DatabaseName); // keeps it from being closed as idle
            await DemoData.LoadAsync(catalog, output, url, stopping).ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // stopped while loading; the next start completes it
        }
        catch (Exception exception) when (exception is TreepieException or IOException)
        {
            await error.WriteLineAsync($"The demo data could not be loaded: {exception.Message}").ConfigureAwait(false);
        }
    }

    private static async Task EndWithAsync(int processId, IHostApplicationLifetime lifetime)
    {
        try
        {
            using Process parent = Process.GetProcessById(processId);
            await parent.WaitForExitAsync(lifetime.ApplicationStopping).ConfigureAwait(false);
        }
        catch (ArgumentException)
        {
            // it has exited already
        }
        catch (OperationCanceledException)
        {
            return;
        }

        lifetime.StopApplication();
    }

    // Exceptions of lower layers have types that this project cannot name.
    private static bool IsOurs(Exception exception) =>
        exception.GetType().Namespace?.StartsWith("Treepie", StringComparison.Ordinal) == true;
}
