using System.Runtime.CompilerServices;
using System.Text;

namespace Treepie.Storage.Tests.Killing;

/// <summary>
/// This test program, started with a directory in its environment. Instead of running tests, it writes batches there, prints
/// a line for each acknowledged one, and continues until it is killed.
/// </summary>
internal static class KilledChild
{
    public const string DirectoryVariable = "TREEPIE_KILLED_CHILD_DIRECTORY";

    /// <summary>Small sizes, so that journal files change and checkpoints run all the time.</summary>
    public static StorageOptions Options { get; } = new()
    {
        ScratchBudgetBytes = 1 << 20,
        FirstJournalFileBytes = 16 << 10,
        MaxJournalFileBytes = 256 << 10,
    };

    [ModuleInitializer]
    internal static void RunIfAsked()
    {
        if (Environment.GetEnvironmentVariable(DirectoryVariable) is not { Length: > 0 } directory)
            return;

        // Other threads cannot run code of this module until its initializer has returned, so one thread writes for all.
        StorageEnvironment environment = StorageEnvironment.Open(directory, Options);
        using Stream output = Console.OpenStandardOutput();
        for (int turn = 0; ; turn++)
        {
            int writer = turn % NumberedBatches.Writers;
            long batch = environment.Write(transaction => NumberedBatches.WriteNext(transaction, writer));
            output.Write(Encoding.ASCII.GetBytes($"{writer} {batch};\n"));
        }
    }
}
