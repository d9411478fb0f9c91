using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using Spectre.Console;
using Treepie.CommandLine.Activity;
using Treepie.CommandLine.Http;

namespace Treepie.CommandLine.Commands;

/// <summary><c>treepie top</c>: shows what a server is doing until interrupted.</summary>
internal static class TopCommand
{
    private const int MostSeconds = 10;

    /// <summary>The command.</summary>
    public static Command Create(Shell shell)
    {
        Option<Uri> url = CommonOptions.Url();
        var seconds = new Option<int>("--seconds", "-s")
        {
            Description = "The time that each update covers",
            HelpName = "n",
            DefaultValueFactory = _ => 1,
        };
        seconds.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<int>() is < 1 or > MostSeconds)
                result.AddError(string.Create(CultureInfo.InvariantCulture, $"--seconds goes from 1 to {MostSeconds}"));
        });
        var count = new Option<int>("--count", "-n")
        {
            Description = "The number of updates before it ends; 0: until Ctrl-C",
            HelpName = "n",
        };
        count.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<int>() < 0)
                result.AddError("--count is a number of pictures, or 0 for no end");
        });
        var json = new Option<bool>("--json") { Description = "Write each update as a line of JSON, as returned by the server" };
        var command = new Command("top", "Shows the activity of a server: load, requests, and the busiest databases")
        {
            url, seconds, count, json,
        };
        command.SetAction(shell, url, async (parsed, server, cancellationToken) =>
        {
            var watch = new Watch(shell, server, parsed.GetValue(seconds), parsed.GetValue(count));
            try
            {
                if (parsed.GetValue(json))
                    await watch.EachAsync(
                        answer => shell.OutputText.WriteLine(JsonSerializer.Serialize(answer)), cancellationToken);
                else if (shell.OutputIsTerminal)
                    await watch.LiveAsync(cancellationToken);
                else
                    await watch.EachAsync(
                        answer => shell.OutputConsole().Write(ActivityView.Of(answer, server.Url, shell.Time.GetLocalNow())),
                        cancellationToken);
            }
            catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
            {
                // Ctrl-C is the normal way to stop.
            }

            return ExitCode.Ok;
        });
        return command;
    }

    /// <summary>Polls the server; each response arrives after the number of seconds that it covers.</summary>
    private sealed class Watch(Shell shell, ServerClient server, int seconds, int count)
    {
        public async Task EachAsync(Action<JsonElement> show, CancellationToken cancellationToken)
        {
            for (int shown = 0; count == 0 || shown < count; shown++)
            {
                string path = string.Create(CultureInfo.InvariantCulture, $"admin/activity?seconds={seconds}");
                using HttpResponseMessage response = await server.SendAsync(HttpMethod.Get, path, null, cancellationToken);
                using JsonDocument answer = await ServerClient.ReadJsonAsync(response, cancellationToken);
                show(answer.RootElement);
            }
        }

        public Task LiveAsync(CancellationToken cancellationToken) =>
            shell.OutputConsole().Live(new Text($"Watching {server.Url} ...")).StartAsync(display => EachAsync(
                answer =>
                {
                    display.UpdateTarget(ActivityView.Of(answer, server.Url, shell.Time.GetLocalNow()));
                    display.Refresh();
                },
                cancellationToken));
    }
}
