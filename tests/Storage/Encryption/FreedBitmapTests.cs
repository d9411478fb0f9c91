using System.Buffers.Binary;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Encryption;

/// <summary>
/// Pages of a bitmap that moved elsewhere are reused. Nothing that was decrypted there may be visible then.
/// </summary>
public sealed class FreedBitmapTests
{
    private const int Rows = 4_000;
    private const int ValueBytes = 500;

    [Fact]
    public void A_page_that_held_a_bitmap_is_read_as_what_it_became_when_decrypted_pages_are_over_their_budget()
    {
        using var directory = new TemporaryDirectory();
        using EncryptionKey key = EncryptionKey.Generate();
        var options = new StorageOptions
        {
            EncryptionKey = key,
            DecryptedBudgetBytes = 1 << 20,
            DecryptedIdleTime = TimeSpan.FromDays(1)
        };
        using (StorageEnvironment environment = StorageEnvironment.Open(directory.Path, options))
            Write(environment, 0, Rows, version: 0);
        using (StorageEnvironment environment = StorageEnvironment.Open(directory.Path, options))
        {
            Write(environment, 0, 1, version: 1); // reads the current bitmap, which decrypts it
            long bitmap = environment.State.Durable.Bitmap.First;
            environment.Checkpoints.RunToShrink(0, CancellationToken.None); // moves the other bitmap
            environment.Checkpoints.RunToShrink(0, CancellationToken.None); // moves the one that was read, which frees its page
            Assert.NotEqual(bitmap, environment.State.Durable.Bitmap.First);
            Assert.NotEqual(bitmap, environment.State.Durable.OtherBitmap.First);

            using ReadTransaction holder = environment.BeginRead();
            AssertRows(holder, changedUpTo: 1);
            Assert.True(environment.GetStatistics().DecryptedBytes > options.DecryptedBudgetBytes);
            for (int i = 0; i < 3; i++)
            {
                Write(environment, 0, 300, version: 1); // the lowest free page is used first: that of the old bitmap
                environment.Checkpoint();
                using ReadTransaction read = environment.BeginRead();
                AssertRows(read, changedUpTo: 300);
            }

            Assert.Empty(environment.Check(TestContext.Current.CancellationToken).Problems);
        }
    }

    private static void Write(StorageEnvironment environment, int from, int end, byte version) => environment.Write(transaction =>
    {
        Tree tree = transaction.GetOrCreateTree("t");
        Span<byte> value = stackalloc byte[ValueBytes];
        for (int row = from; row < end; row++)
        {
            value.Fill(version);
            tree.Put(KeyOf(row), value);
        }

        return 0;
    });

    private static void AssertRows(ReadTransaction read, int changedUpTo)
    {
        Tree tree = read.FindTree("t")!; // written at the beginning
        for (int row = 0; row < Rows; row++)
        {
            Assert.True(tree.TryGet(KeyOf(row), out ReadOnlySpan<byte> value));
            Assert.Equal(ValueBytes, value.Length);
            Assert.Equal(row < changedUpTo ? 1 : 0, value[^1]);
        }
    }

    private static byte[] KeyOf(int row)
    {
        var key = new byte[4];
        BinaryPrimitives.WriteInt32BigEndian(key, row);
        return key;
    }
}
