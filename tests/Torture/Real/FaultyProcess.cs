using System.Globalization;
using System.Text;
using Treepie.Storage;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;
using Treepie.Torture.Runs;

namespace Treepie.Torture.Real;

/// <summary>
/// This program, started to have its system calls refused: clients write, read and delete, from some moment on upon a system that
/// fails. Each attempt and its outcome is a line of output.
/// </summary>
internal static class FaultyProcess
{
    /// <summary>The line for the moment from which calls are refused.</summary>
    public const string Installed = "fault;";

    /// <summary>The last line.</summary>
    public const string Ended = "end;";

    /// <summary>Prefix of the line that says that the system allows no filter.</summary>
    public const string Unavailable = "unavailable ";

    private const int MaxAttemptsBefore = 100;
    private const int ChanceOfOpening = 4;

    /// <summary>The first kernel that loads mapped pages by a call that returns errors.</summary>
    private static readonly Version _guardsMaps = new(5, 14);

    /// <summary>Runs to the end, or until the process is killed.</summary>
    public static int Run(string directory, int seed, int number, bool isEncrypted)
    {
        using Stream output = Console.OpenStandardOutput();
        var turn = new Lock();
        void Say(string line)
        {
            byte[] bytes = Encoding.UTF8.GetBytes(line + "\n");
            lock (turn)
                output.Write(bytes);
        }

        SystemFault fault = SystemFault.All[number];
        try
        {
            if (Run(directory, new Random(seed), fault, isEncrypted, Say))
                Say(Ended);
            return 0;
        }
        catch (Exception error)
        {
            Say(KilledProcess.Broken + $"({fault.Name}) {error.ToString().ReplaceLineEndings(" | ")}");
            return 1;
        }
    }

    private static bool Run(string directory, Random random, SystemFault fault, bool isEncrypted, Action<string> say)
    {
        IReadOnlyList<RefusedCall> atOpening = fault.Calls([]);
        bool isAtOpening = fault.PageBytes > 0 || (random.Next(ChanceOfOpening) == 0 && atOpening.Count > 0);
        if (isAtOpening && !TryInstall(atOpening, say))
            return false;

        var files = new DiskFileSystem(directory, calls: fault.PageBytes > 0 ? new LargePages(fault.PageBytes) : null);
        World world = World.OfDisk(directory) with { Files = files };
        StorageEnvironment environment;
        try
        {
            environment = StorageEnvironment.Open(
                world, RealClients.Options with { EncryptionKey = isEncrypted ? UserKeys.Of(0) : null });
        }
        catch (StorageException) when (isAtOpening && fault.Outcome != FaultOutcome.Nothing)
        {
            return true; // nothing was changed, which the next opening proves
        }

        var clients = new FaultyClients(environment, fault, random.Next(), say) { IsFaulty = isAtOpening };
        clients.Start();
        if (!isAtOpening)
        {
            clients.WaitForAttempts(random.Next(MaxAttemptsBefore));
            clients.IsFaulty = true; // before, so that nothing is judged too early
            if (!TryInstall(fault.Calls(FindDataFile(directory)), say))
                return false;
        }

        clients.IsFaultInForce = true;
        clients.Finish();
        if (fault.PageBytes > 0 && Environment.OSVersion.Version >= _guardsMaps
            && environment.GetStatistics().Platform.IsMapGuarded is false)
            throw new InvalidOperationException("The pages of the map are not guarded, though this kernel can.");
        if (random.Next(2) == 0)
            environment.Dispose();
        return true;
    }

    private static bool TryInstall(IReadOnlyList<RefusedCall> calls, Action<string> say)
    {
        int error = SystemCallFilter.TryInstall(calls);
        say(error == 0 ? Installed : string.Create(CultureInfo.InvariantCulture, $"{Unavailable}{error};"));
        return error == 0;
    }

    private static List<int> FindDataFile(string directory)
    {
        string path = Path.Combine(directory, FormatLimits.DataFileName);
        List<int> found = [];
        foreach (string link in Directory.GetFiles("/proc/self/fd"))
        {
            try
            {
                if (File.ResolveLinkTarget(link, returnFinalTarget: false)?.FullName == path)
                    found.Add(int.Parse(Path.GetFileName(link), CultureInfo.InvariantCulture));
            }
            catch (IOException)
            {
                // It was closed meanwhile.
            }
        }

        return found.Count > 0 ? found : throw new InvalidOperationException($"'{path}' is not open.");
    }

    private sealed class LargePages(int bytes) : SystemCalls
    {
        public override int PageBytes => bytes;
    }
}
