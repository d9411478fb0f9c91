using System.Globalization;
using System.Runtime.CompilerServices;

namespace Treepie.Storage.Tests.Killing;

/// <summary>
/// This test program, started with a low limit of open files. Instead of running tests, it opens environments until that
/// fails, reports the error, and continues with the open ones.
/// </summary>
internal static class FewFilesChild
{
    public const string DirectoryVariable = "TREEPIE_FEW_FILES_CHILD_DIRECTORY";

    [ModuleInitializer]
    internal static void RunIfAsked()
    {
        if (Environment.GetEnvironmentVariable(DirectoryVariable) is not { Length: > 0 } directory)
            return;

        var lines = new List<string>(); // printed once files can be opened again: the first line needs one
        // This one has its journal, because it has written. Opening one of the others fails halfway.
        StorageEnvironment first = Open(directory, 0);
        Write(first);
        var open = new Stack<StorageEnvironment>();
        lines.Add(NameError(() =>
        {
            while (true)
                open.Push(Open(directory, open.Count + 1));
        }));
        lines.Add(open.Count.ToString(CultureInfo.InvariantCulture));
        var others = new Stack<FileStream>();
        NameError(() =>
        {
            while (true)
                others.Push(new FileStream("/dev/null", FileMode.Open, FileAccess.Read, FileShare.ReadWrite));
        });
        lines.Add(NameError(() => Write(open.Peek()))); // it has no journal yet
        Write(first);
        while (others.TryPop(out FileStream? other))
            other.Dispose();
        for (int i = 0; i < 5; i++)
            open.Pop().Dispose();
        lines.Add(NameError(() => Write(open.Peek())));
        while (open.TryPop(out StorageEnvironment? environment))
            environment.Dispose();
        for (int i = 1; i <= 3; i++)
        {
            using StorageEnvironment environment = Open(directory, i);
            Write(environment);
        }

        first.Dispose();
        lines.Add("done");
        Console.Write(string.Join('\n', lines));
        Environment.Exit(0);
    }

    private static StorageEnvironment Open(string directory, int number) =>
        StorageEnvironment.Open(Path.Combine(directory, number.ToString(CultureInfo.InvariantCulture)));

    private static void Write(StorageEnvironment environment) =>
        environment.Write(static transaction => transaction.GetOrCreateTree("t").Put("k"u8, "v"u8));

    private static string NameError(Action action)
    {
        try
        {
            action();
            return "none";
        }
        catch (Exception error)
        {
            return error.GetType().Name;
        }
    }
}
