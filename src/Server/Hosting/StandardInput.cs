namespace Treepie.Server.Hosting;

/// <summary>
/// Reads commands from standard input. The end of input, or its absence, is ignored: only a stop command ends the server.
/// </summary>
internal static class StandardInput
{
    private static readonly string[] _stopLines = ["q", "shutdown no-confirmation"];

    /// <summary>Calls <paramref name="stop"/> when a stop command is read.</summary>
    public static void Watch(TextReader input, Action stop)
    {
        // A separate background thread, because reading from a console cannot be cancelled and must not keep the process
        // alive.
        var thread = new Thread(() => ReadUntilStop(input, stop)) { IsBackground = true, Name = "Standard input" };
        thread.Start();
    }

    private static void ReadUntilStop(TextReader input, Action stop)
    {
        try
        {
            while (input.ReadLine() is { } line)
            {
                if (!_stopLines.Contains(line.Trim(), StringComparer.OrdinalIgnoreCase))
                    continue;

                stop();
                return;
            }
        }
        catch (Exception exception) when (exception is IOException or ObjectDisposedException or UnauthorizedAccessException)
        {
            // there is no readable input; signals can still stop the server
        }
    }
}
