namespace Treepie.Server.Hosting;

/// <summary>
/// Reads commands from standard input. A closed or absent input means nothing: only a line that says so ends the server.
/// </summary>
internal static class StandardInput
{
    private static readonly string[] _stopLines = ["q", "shutdown no-confirmation"];

    /// <summary>Calls <paramref name="stop"/> at the first line that asks for it.</summary>
    public static void Watch(TextReader input, Action stop)
    {
        // A thread of its own: a console's read cannot be cancelled, and must not keep the process alive.
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
            // No input that could be read: signals are left to stop the server.
        }
    }
}
