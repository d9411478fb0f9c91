using System.Text;
using Treepie.Storage;
using Treepie.Torture.Runs;

namespace Treepie.Torture.Real;

/// <summary>
/// This program, started to be killed: real threads write, read and do maintenance, and each acknowledgement is a line of output.
/// </summary>
internal static class KilledProcess
{
    /// <summary>Prefix of a line that reports a failure.</summary>
    public const string Broken = "broken ";

    /// <summary>Runs until the process is killed. Returns only after a failure.</summary>
    public static int Run(string directory, int seed, bool isEncrypted)
    {
        using Stream output = Console.OpenStandardOutput();
        var turn = new Lock();
        void Say(string line)
        {
            byte[] bytes = Encoding.UTF8.GetBytes(line + "\n");
            lock (turn)
                output.Write(bytes);
        }

        try
        {
            StorageEnvironment environment = StorageEnvironment.Open(
                directory, RealClients.Options with { EncryptionKey = isEncrypted ? UserKeys.Of(0) : null });
            new RealClients(environment, seed)
            {
                Acknowledging = (writer, batch) => Say(
                    string.Create(System.Globalization.CultureInfo.InvariantCulture, $"{writer} {batch};"))
            }.Run(long.MaxValue);
        }
        catch (Exception error)
        {
            Say(Broken + error.ToString().ReplaceLineEndings(" | "));
        }

        return 1;
    }
}
