using System.Buffers.Text;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using System.Text;
using Treepie.Queries;
using Treepie.Storage;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Encryption;

/// <summary>
/// This very program, started with a directory in its environment: instead of running tests it works on a database there, ends
/// all transactions, collects its garbage, says so, and idles until its memory was looked at. Its markers follow from a seed, so
/// that its code does not hold them.
/// </summary>
internal static class DumpedChild
{
    public const string DirectoryVariable = "TREEPIE_DUMPED_CHILD_DIRECTORY";
    public const string SeedVariable = "TREEPIE_DUMPED_CHILD_SEED";
    public const string KeyVariable = "TREEPIE_DUMPED_CHILD_KEY";
    public const string Ready = "ready";

    /// <summary>Characters that each marker ends with, and how many of these all have in common.</summary>
    public const int MarkerLength = 24, CommonLength = 8;

    private const int Documents = 200;

    /// <summary>What of the markers a document holds: its id, a field that is indexed, one that is not, and metadata.</summary>
    public static IReadOnlyList<string> Markers(string seed) =>
        [.. Enumerable.Range(0, Documents)
            .SelectMany(
                number => (string[])
                [
                    Id(seed, number), Word(seed, "term", number), Word(seed, "body", number), Word(seed, "metadata", number)
                ])];

    [ModuleInitializer]
    internal static void RunIfAsked()
    {
        if (Environment.GetEnvironmentVariable(DirectoryVariable) is not { Length: > 0 } directory
            || Environment.GetEnvironmentVariable(SeedVariable) is not { } seed)
            return;

        // Other threads could not run code of this module before its initializer has returned, so all is done on this one.
        using Database database = Open(directory);
        Work(database, seed);
        while (database.DecryptedBytes > 0)
            Thread.Sleep(20); // the sweep has its own pace, and nothing here to wait for it by
        ClearStack();
        for (int i = 0; i < 3; i++)
        {
            GC.Collect(GC.MaxGeneration, GCCollectionMode.Aggressive, blocking: true, compacting: true);
            GC.WaitForPendingFinalizers();
        }

        // Where the garbage collector's heap is, for who does not look there.
        GCHandle heap = GCHandle.Alloc(new byte[64], GCHandleType.Pinned);
        Console.Out.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{Ready} {heap.AddrOfPinnedObject():x}"));
        Console.Out.Flush();
        Console.In.ReadLine();
        Environment.Exit(0);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Database Open(string directory)
    {
        if (Environment.GetEnvironmentVariable(KeyVariable) is not { Length: > 0 } text)
            return Database.Open(directory);

        using EncryptionKey key = EncryptionKey.FromBytes(Convert.FromHexString(text));
        return Database.Open(directory, new DatabaseOptions { EncryptionKey = key });
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Work(Database database, string seed)
    {
        for (int number = 0; number < Documents; number++)
        {
            byte[] json = Encoding.UTF8.GetBytes(
                $$"""{"Word":"{{Word(seed, "term", number)}}","Text":"{{Word(seed, "body", number)}}","@metadata":{"@collection":"Words","more":"{{Word(seed, "metadata", number)}}"} }""");
            using var batch = new WriteBatch(database.Options);
            batch.Put(Id(seed, number), json);
            database.WriteAsync(batch).GetAwaiter().GetResult();
        }

        var request = new QueryRequest
        {
            Text = $"from Words where Word = '{Word(seed, "term", 7)}'",
            WaitForNonStaleResults = true
        };
        using (QueryResults results = database.QueryAsync(request).GetAwaiter().GetResult())
            if (!results.MoveNext() || results.Current.Body.IndexOf(Encoding.UTF8.GetBytes(Word(seed, "body", 7))) < 0)
                throw new InvalidOperationException("The query does not find what was written.");

        using DatabaseSnapshot snapshot = database.BeginRead();
        using DocumentCursor cursor = snapshot.ByEtag();
        long bytes = 0;
        while (cursor.MoveNext())
            bytes += cursor.Current.Body.Length + cursor.Current.Metadata.Length;
        if (bytes < Documents * 64)
            throw new InvalidOperationException("The scan does not find what was written.");
    }

    /// <summary>What was on the stack of methods that have returned is overwritten, as it would be sooner or later.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ClearStack()
    {
        Span<byte> deep = stackalloc byte[512 * 1024];
        RandomNumberGenerator.Fill(deep);
        if (Base64.GetMaxEncodedToUtf8Length(deep[0]) < 0)
            throw new InvalidOperationException();
    }

    private static string Id(string seed, int number) => "words/" + Word(seed, "id", number);

    /// <summary>Hexadecimal digits that nobody can guess.</summary>
    private static string Word(string seed, string kind, int number) =>
        seed[..CommonLength]
            + Convert.ToHexStringLower(
                SHA256.HashData(Encoding.UTF8.GetBytes(string.Create(CultureInfo.InvariantCulture, $"{seed} {kind} {number}")))
                    .AsSpan(0, (MarkerLength - CommonLength) / 2));
}
