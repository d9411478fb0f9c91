using System.Security.Cryptography;

namespace Treepie.Storage.Tests.Encryption;

/// <summary>
/// Verifies the cryptographic primitives of the platform with the published test vectors, so that any other implementation
/// can open what is sealed here.
/// </summary>
public sealed class PrimitiveVectorTests
{
    private const string Key = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308";
    private const string Text =
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255";
    private const string Sealed =
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad";

    /// <summary>
    /// AES-256-GCM: test cases 13 to 16 of the proposal (McGrew and Viega), which NIST adopted as SP 800-38D.
    /// </summary>
    [Theory]
    [InlineData(
        "0000000000000000000000000000000000000000000000000000000000000000", "000000000000000000000000", "", "", "",
        "530f8afbc74536b9a963b4f1c4cb738b")]
    [InlineData(
        "0000000000000000000000000000000000000000000000000000000000000000", "000000000000000000000000", "",
        "00000000000000000000000000000000",
        "cea7403d4d606b6e074ec5d3baf39d18", "d0d1c8a799996bf0265b98b5d48ab919")]
    [InlineData(Key, "cafebabefacedbaddecaf888", "", Text, Sealed, "b094dac5d93471bdec1a502270e3cc6c")]
    [InlineData(
        Key, "cafebabefacedbaddecaf888", "feedfacedeadbeeffeedfacedeadbeefabaddad2", "60 bytes of it", "60 bytes of it",
        "76fc6ece0f4e1768cddf8853bb2d551b")]
    public void Aes_256_gcm_gives_what_its_authors_published(
        string key, string nonce, string associated, string text, string cipher, string tag)
    {
        if (text == "60 bytes of it")
            (text, cipher) = (Text[..120], Sealed[..120]);
        using var aes = new AesGcm(Convert.FromHexString(key), 16);
        byte[] content = Convert.FromHexString(text),
            output = new byte[content.Length],
            foundTag = new byte[16],
            back = new byte[content.Length];
        aes.Encrypt(Convert.FromHexString(nonce), content, output, foundTag, Convert.FromHexString(associated));
        Assert.Equal((cipher, tag), (Convert.ToHexStringLower(output), Convert.ToHexStringLower(foundTag)));

        aes.Decrypt(Convert.FromHexString(nonce), output, foundTag, back, Convert.FromHexString(associated));
        Assert.Equal(content, back);
        foundTag[3] ^= 1;
        Assert.Throws<AuthenticationTagMismatchException>(
            () => aes.Decrypt(Convert.FromHexString(nonce), output, foundTag, back, Convert.FromHexString(associated)));
    }

    /// <summary>HKDF-SHA-256: appendix A.1 to A.3 of RFC 5869.</summary>
    [Theory]
    [InlineData(
        0x0b, 0, 22, 0x00, 13, 0xf0, 10, "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")]
    [InlineData(
        0x00, 1, 80, 0x60, 80, 0xb0, 80,
        "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87")]
    [InlineData(
        0x0b, 0, 22, 0x00, 0, 0x00, 0, "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8")]
    public void Hkdf_sha_256_gives_what_rfc_5869_has(
        int first, int step, int length, int salt, int saltLength, int info, int infoLength, string expected)
    {
        byte[] output = new byte[expected.Length / 2];
        HKDF.DeriveKey(
            HashAlgorithmName.SHA256, Bytes(first, step, length), output, Bytes(salt, 1, saltLength), Bytes(info, 1, infoLength));
        Assert.Equal(expected, Convert.ToHexStringLower(output));
    }

    /// <summary>PBKDF2-HMAC-SHA-512: the inputs of RFC 6070, with the outputs known for this hash.</summary>
    [Theory]
    [InlineData(
        1,
        "867f70cf1ade02cff3752599a3a53dc4af34c7a669815ae5d513554e1c8cf252c02d470a285a0501bad999bfe943c08f050235d7d68b1da55e63f73b60a57fce")]
    [InlineData(
        2,
        "e1d9c16aa681708a45f5c7c4e215ceb66e011a2e9f0040713f18aefdb866d53cf76cab2868a39b9f7840edce4fef5a82be67335c77a6068e04112754f27ccf4e")]
    [InlineData(
        4096,
        "d197b1b33db0143e018b12f3d1d1479e6cdebdcc97c5c0f87f6902e072f457b5143f30602641b3d55cd335988cb36b84376060ecd532e039b742a239434af2d5")]
    public void Pbkdf2_hmac_sha_512_gives_the_known_answers(int iterations, string expected)
    {
        byte[] output = new byte[64];
        Rfc2898DeriveBytes.Pbkdf2("password"u8, "salt"u8, output, iterations, HashAlgorithmName.SHA512);
        Assert.Equal(expected, Convert.ToHexStringLower(output));
    }

    private static byte[] Bytes(int first, int step, int length) =>
        [.. Enumerable.Range(0, length).Select(position => (byte)(first + (position * step)))];
}
