using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;

namespace Treepie.Encryption;

/// <summary>
/// A program that writes a key to its standard output, for keys in a vault or device. It is started without a shell, with
/// closed standard input, and has a time limit; if it fails, the error message contains its standard error output.
/// </summary>
internal sealed class KeyCommand(string program, IReadOnlyList<string> arguments, TimeSpan timeLimit)
{
    private const int MaxErrorChars = 1000;

    /// <summary>A description without the arguments, which may be confidential.</summary>
    public string Description =>
        arguments.Count == 0 ? $"The command '{program}'" : $"The command '{program}' with {arguments.Count} arguments";

    /// <summary>
    /// Splits a command line into words separated by spaces; quotes of either kind group words. No variables or escapes.
    /// </summary>
    /// <exception cref="FormatException">A quote is not closed, or there are no words.</exception>
    public static IReadOnlyList<string> Split(string line)
    {
        var words = new List<string>();
        var word = new StringBuilder();
        bool isWord = false;
        char quote = '\0';
        foreach (char unit in line)
        {
            if (quote != '\0' ? unit == quote : unit is '"' or '\'')
            {
                quote = quote == '\0' ? unit : '\0';
                isWord = true; // even if the quotes are empty
            }
            else if (quote == '\0' && char.IsWhiteSpace(unit))
            {
                if (isWord)
                    words.Add(word.ToString());
                word.Clear();
                isWord = false;
            }
            else
            {
                word.Append(unit);
                isWord = true;
            }
        }

        if (isWord)
            words.Add(word.ToString());
        return quote != '\0' ? throw new FormatException("A quote is not closed.")
            : words.Count == 0 ? throw new FormatException("There is no program.")
            : words;
    }

    /// <summary>Runs the program to completion.</summary>
    /// <exception cref="KeySourceException">It cannot be started, fails, writes too much or takes too long.</exception>
    public async Task RunAsync(SecretBuffer secret, CancellationToken cancellationToken)
    {
        using Process process = Start();
        using var limit = new CancellationTokenSource(timeLimit);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, cancellationToken);
        try
        {
            process.StandardInput.Close();
            Task<string> complaint = ReadErrorAsync(process.StandardError, either.Token);
            await ReadAsync(process.StandardOutput.BaseStream, secret, either.Token).ConfigureAwait(false);
            string error = await complaint.ConfigureAwait(false);
            await process.WaitForExitAsync(either.Token).ConfigureAwait(false);
            if (process.ExitCode != 0)
                throw new KeySourceException(
                    string.Create(
                        CultureInfo.InvariantCulture, $"{Description} failed with exit code {process.ExitCode}{Said(error)}"));
            if (secret.Length == 0)
                throw new KeySourceException(
                    $"{Description} ended well, but wrote nothing to its standard output, where the key is "
                        + $"expected{Said(error)}");
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw new KeySourceException(string.Create(
                CultureInfo.InvariantCulture,
                $"{Description} did not end within {timeLimit.TotalSeconds:0.#} seconds and was killed. It must write the key "
                    + $"and exit without asking for input."));
        }
        finally
        {
            Kill(process);
        }
    }

    private Process Start()
    {
        if (!Path.IsPathFullyQualified(program))
        {
            throw new KeySourceException(
                $"The command '{program}' for a key is not a full path, like /usr/bin/secret-tool: a name alone would be looked "
                    + $"for in places that others may write to.");
        }

        var start = new ProcessStartInfo(program, arguments)
        {
            UseShellExecute = false,
            CreateNoWindow = true,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        try
        {
            return Process.Start(start) ?? throw new InvalidOperationException("no process");
        }
        catch (Exception error) when (error is ExternalException or InvalidOperationException or IOException)
        {
            // failed system calls throw an ExternalException
            throw new KeySourceException($"{Description} cannot be started: {error.Message}", error);
        }
    }

    private async Task ReadAsync(Stream output, SecretBuffer secret, CancellationToken cancellationToken)
    {
        while (!secret.Free.IsEmpty)
        {
            int count = await output.ReadAsync(secret.Free, cancellationToken).ConfigureAwait(false);
            if (count == 0)
                return;
            secret.Advance(count);
        }

        throw new KeySourceException(
            $"{Description} writes too much: {KeyText.MaxBytes:N0} bytes or more. It must write the key and nothing else to its "
                + $"standard output. It was killed.");
    }

    /// <summary>Reads everything, so that the program does not block on a full pipe; keeps only the beginning.</summary>
    private static async Task<string> ReadErrorAsync(StreamReader error, CancellationToken cancellationToken)
    {
        var kept = new StringBuilder();
        char[] buffer = new char[256];
        for (int count; (count = await error.ReadAsync(buffer, cancellationToken).ConfigureAwait(false)) > 0;)
            kept.Append(buffer, 0, Math.Min(count, MaxErrorChars - kept.Length));
        return kept.ToString().Trim();
    }

    private static string Said(string error) => error.Length == 0 ? ", and said nothing on its standard error." : $": {error}";

    private static void Kill(Process process)
    {
        try
        {
            if (!process.HasExited)
                process.Kill(entireProcessTree: true);
        }
        catch (Exception error)
            when (error is InvalidOperationException or ExternalException or AggregateException or NotSupportedException)
        {
            // it has exited in the meantime, or may no longer be killed
        }
    }
}
